/** What an administrator may do in one organization, the most powerful first (D18). */
export const roles = ['owner', 'admin', 'operator', 'viewer'] as const

export type Role = (typeof roles)[number]

/** What each role is for: shown where a member is invited. */
export const rolePurposes: Readonly<Record<Role, string>> = {
  owner: 'Everything, and who else is an owner.',
  admin: 'Keys, agents, Automations, policy and members.',
  operator: 'Contacts, batches, calls, runs and the do-not-call list.',
  viewer: 'Reads; numbers, names, words and audio are masked.',
}

/** The roles that may do what this one may: itself and the more powerful ones. */
export const atLeast = (least: Role): readonly Role[] => roles.slice(0, roles.indexOf(least) + 1)

/** Whether a member of one role may give, change or take another: only owners decide about owners (D18). */
export const mayDecideAbout = (own: Role, other: Role): boolean =>
  own === 'owner' || (own === 'admin' && other !== 'owner')
