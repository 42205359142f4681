import type { JobTasks } from '../../jobs/job-runner.ts'
import { summaryTask, type CallJob } from './follow-up-jobs.ts'

interface FollowUpTasksOptions {
  /** The task that encodes the spools of this node. */
  readonly encodingTask: string
  readonly encode: (job: CallJob, signal: AbortSignal) => Promise<void>
  readonly summarize: (
    job: CallJob,
    attempt: { readonly isLast: boolean; readonly signal: AbortSignal },
  ) => Promise<void>
}

/** The functions that run the jobs after a call. */
export const followUpTasks = (options: FollowUpTasksOptions): JobTasks => ({
  [options.encodingTask]: (payload, { abortSignal }) =>
    options.encode(payload as CallJob, abortSignal ?? neverAborted()),
  [summaryTask]: (payload, { abortSignal, job }) =>
    options.summarize(payload as CallJob, {
      isLast: job.attempts >= job.max_attempts,
      signal: abortSignal ?? neverAborted(),
    }),
})

const neverAborted = (): AbortSignal => new AbortController().signal
