import { hostname } from 'node:os'

/** The prefix of the names of this machine's nodes. */
export const machinePrefix = (): string => `${hostname()}-`

/** The name of this process as a node, for operators. */
export const nodeName = (): string => `${machinePrefix()}${process.pid}`
