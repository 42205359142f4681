import { atLeast, type Role } from '../roles.ts'

/** Not part of the published API: only the dashboard of the same version calls these. */
const undocumented = { tag: 'Console', summary: '', description: '', example: {} } as const

/** The least powerful role that an operation is for, and what it costs. */
export const reads = (least: Role) =>
  ({ ...undocumented, role: atLeast(least), bucket: 'read' }) as const
export const changes = (least: Role) =>
  ({ ...undocumented, role: atLeast(least), bucket: 'write' }) as const

/** For browsers that have not signed in. */
export const open = { ...undocumented, open: true, bucket: 'write' } as const
