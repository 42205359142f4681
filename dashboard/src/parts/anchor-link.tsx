import { createLink, type LinkComponent } from '@tanstack/react-router'
import type { AnchorHTMLAttributes } from 'react'

// Underlined, because its colour alone would not set it off.
const Underlined = (attributes: AnchorHTMLAttributes<HTMLAnchorElement>) => (
  <a className="link" {...attributes} />
)

const LinkToPage = createLink(Underlined)

/** A link to a page of the dashboard. */
export const AnchorLink: LinkComponent<typeof Underlined> = (properties) => (
  <LinkToPage {...properties} />
)
