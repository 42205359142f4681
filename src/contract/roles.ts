/** What an administrator may do in one organization, the most powerful first (D18). */
const roles = ['owner', 'admin', 'operator', 'viewer'] as const

export type Role = (typeof roles)[number]
