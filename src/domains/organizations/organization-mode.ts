/**
 * Whether an organization's calls go to the sandbox carrier or to real phones (decision D15). Fixed at creation: a
 * change of settings can never make a sandbox ring phones.
 */
export const organizationModes = ['sandbox', 'live'] as const

export type OrganizationMode = (typeof organizationModes)[number]

/** The route of calls: the sandbox carrier, or the trunk of OUTDIAL_SIP_TRUNK. */
export type RouteName = 'sandbox' | 'env'

export const routeOf = (mode: OrganizationMode): RouteName =>
  mode === 'sandbox' ? 'sandbox' : 'env'

/** What live organizations may lack on a node, so that their calls wait. */
export type LiveLack = 'no_trunk' | 'no_caller_id' | 'no_engine'
