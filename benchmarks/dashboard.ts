/**
 * The dashboard in Chromium, against a service with many calls and as many contacts of one organization. Usage:
 * `npm run bench dashboard -- [calls] [part]`, all parts by default:
 * `rows`: what the first visit loads, and how soon a page shows its first rows to a browser that was there before;
 * `pages`: Lighthouse's measures of the five main pages for a browser that was not;
 * `open`: what 50 open dashboards cost the service;
 * `live`: the longest task as a list of 300 live calls opens, and while they speak.
 */
import { withFilledService, type FilledService } from './dashboard/filled-service.ts'
import { measureFirstRows } from './dashboard/first-rows.ts'
import { measureLive } from './dashboard/live.ts'
import { measureOpenPages } from './dashboard/open-pages.ts'
import { measurePages } from './dashboard/page-scores.ts'

const parts: Readonly<Record<string, (service: FilledService) => Promise<void>>> = {
  rows: measureFirstRows,
  pages: measurePages,
  open: measureOpenPages,
  live: measureLive,
}

const calls = Number(process.argv[2] ?? 100_000)
const named = process.argv[3]
const chosen = named === undefined ? Object.values(parts) : [parts[named]]

await withFilledService(calls, async (service) => {
  console.log(`${calls} calls and as many contacts of one organization`)
  for (const measure of chosen) {
    if (!measure) throw new Error(`The parts are ${Object.keys(parts).join(', ')}, not ${named}.`)
    await measure(service)
  }
})
