import fc from 'fast-check'

/**
 * fast-check, with the same cases on every machine, so that a failure belongs to the present change. For other
 * cases: `FAST_CHECK_SEED=random`, or a number.
 */
export { fc }

const usualSeed = 20_261_120
const seed = process.env['FAST_CHECK_SEED']
if (seed !== 'random') fc.configureGlobal({ seed: seed === undefined ? usualSeed : Number(seed) })
