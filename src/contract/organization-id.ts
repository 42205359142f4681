declare const ofOrganization: unique symbol

/** The id of an organization: a string of a type of its own, so that it cannot be swapped with another id beside it. */
export type OrganizationId = string & { readonly [ofOrganization]: true }
