import { branchableFields } from '../definition.ts'
import type { Simulation } from './simulate.ts'

/** The fields of a contact that a simulation needs; unset ones are "". */
export const simulatedContact = (given: object): Simulation['contact'] =>
  Object.fromEntries(
    branchableFields.map((field) => [field, String(Reflect.get(given, field) ?? '')]),
  ) as Simulation['contact']
