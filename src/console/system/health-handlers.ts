import type { ConsoleHandler } from '../console-handler.ts'

/** The table lets only those in who administer the installation. */
export const getHealth: ConsoleHandler<'getHealth'> = (_input, { parts }) => parts.health()
