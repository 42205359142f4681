import { Anchor, type AnchorProps } from '@mantine/core'
import { createLink, type LinkComponent } from '@tanstack/react-router'
import type { AnchorHTMLAttributes } from 'react'

type Attributes = AnchorProps & Omit<AnchorHTMLAttributes<HTMLAnchorElement>, keyof AnchorProps>

// Underlined, because its colour alone would not set it off.
const Underlined = (attributes: Attributes) => <Anchor inherit td="underline" {...attributes} />

const LinkToPage = createLink(Underlined)

/** A link to a page of the dashboard. */
export const AnchorLink: LinkComponent<typeof Underlined> = (properties) => (
  <LinkToPage {...properties} />
)
