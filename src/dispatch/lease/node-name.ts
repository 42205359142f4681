import { hostname } from 'node:os'

/** What the names of this machine's nodes begin with. */
export const machinePrefix = (): string => `${hostname()}-`

/** The name of this process among the nodes, for whoever looks. */
export const nodeName = (): string => `${machinePrefix()}${process.pid}`
