import { createLink, type LinkComponent } from '@tanstack/react-router'
import type { AnchorHTMLAttributes } from 'react'

// Underlined, because its colour alone would not set it off. The router gives a link to the shown page a class of its own.
const Underlined = (attributes: AnchorHTMLAttributes<HTMLAnchorElement>) => (
  <a {...attributes} className="link" />
)

const LinkToPage = createLink(Underlined)

/** A link to a page of the dashboard. */
export const AnchorLink: LinkComponent<typeof Underlined> = (properties) => (
  <LinkToPage {...properties} />
)
