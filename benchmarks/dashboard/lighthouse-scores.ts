/**
 * Lighthouse's performance score for desktops: a log-normal curve for each measure, through 0.9 at `p10` and 0.5 at the
 * median (lighthouse core/config/desktop-config.js and core/lib/statistics.js). Its speed index, a tenth of the score, needs
 * pictures of the page as it is drawn; the largest paint stands for it here, which is never earlier.
 */
export interface PaintTimings {
  readonly firstPaintMs: number
  readonly largestPaintMs: number
  readonly blockedMs: number
  readonly layoutShift: number
}

interface Curve {
  readonly p10: number
  readonly median: number
  readonly weight: number
}

const curves = {
  firstPaintMs: { p10: 934, median: 1_600, weight: 0.1 },
  speedIndexMs: { p10: 1_311, median: 2_300, weight: 0.1 },
  largestPaintMs: { p10: 1_200, median: 2_400, weight: 0.25 },
  blockedMs: { p10: 150, median: 350, weight: 0.3 },
  layoutShift: { p10: 0.1, median: 0.25, weight: 0.25 },
} as const satisfies Record<string, Curve>

/** 0 to 100. */
export const performanceScore = (timings: PaintTimings): number => {
  const values = { ...timings, speedIndexMs: timings.largestPaintMs }
  const names = Object.keys(curves) as (keyof typeof curves)[]
  return (
    100 *
    names.reduce((sum, name) => sum + curves[name].weight * score(values[name], curves[name]), 0)
  )
}

/** The value at which the complementary error function is a fifth. */
const inverseErfcOfFifth = 0.9061938024368232

const score = (value: number, { p10, median }: Curve): number => {
  if (value <= 0) return 1
  const deviation = (Math.log(value / median) * inverseErfcOfFifth) / -Math.log(p10 / median)
  return (1 - errorFunction(deviation)) / 2
}

/** Abramowitz and Stegun 7.1.26, as Lighthouse has it: exact to 1.5e-7. */
const errorFunction = (x: number): number => {
  const t = 1 / (1 + 0.3275911 * Math.abs(x))
  const y =
    t *
    (0.254829592 + t * (-0.284496736 + t * (1.421413741 + t * (-1.453152027 + t * 1.061405429))))
  return Math.sign(x) * (1 - y * Math.exp(-x * x))
}
