import { simulate, type Simulation } from '../dispatch/automations/simulate.ts'
import { answerWords, parseAnswer } from '../dispatch/automations/simulated-answers.ts'
import { timetableOf, type Timetable } from '../dispatch/automations/timetable.ts'

export { answerWords, parseAnswer, type Simulation, type Timetable }

/** The timetable of one Automation run on a virtual clock, by the stepping code and the windows that run it for real. */
export const simulateTimetable = (simulation: Simulation): Timetable =>
  timetableOf(simulate(simulation))
