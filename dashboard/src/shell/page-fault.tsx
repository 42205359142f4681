import { Component, type ReactNode } from 'react'
import { Failure } from '../parts/states.tsx'

/** Keeps a fault of one page from taking the navigation with it. */
export class PageFault extends Component<{ children: ReactNode }, { error: unknown }> {
  override state: { error: unknown } = { error: undefined }

  static getDerivedStateFromError(error: unknown): { error: unknown } {
    return { error }
  }

  override render(): ReactNode {
    const { error } = this.state
    return error === undefined ? this.props.children : <Failure error={error} />
  }
}
