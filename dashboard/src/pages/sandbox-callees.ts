/** Who picks up in the sandbox, for pages that place a test call; the sandbox carrier's personas are tested to be these. */
export const sandboxCallees = [
  {
    number: '+12025550100',
    shows: 'rings 1 s, answers, holds a short conversation, hangs up',
  },
  { number: '+12025550101', shows: '486 Busy Here' },
  { number: '+12025550102', shows: 'rings, never answers' },
  { number: '+12025550103', shows: 'voicemail greeting and a beep' },
  { number: '+12025550104', shows: '404 Not Found' },
  {
    number: '+12025550105',
    shows: '503 with Retry-After on the first INVITE of a call, answers the next',
  },
  { number: '+12025550106', shows: 'answers and stays silent' },
  { number: '+12025550107', shows: 'answers and hangs up within 200 ms' },
  { number: '+12025550108', shows: 'answers and talks until the other side hangs up' },
  { number: '+12025550109', shows: '603 Decline' },
  { number: '+12025550110', shows: 'asks never to be called again' },
  { number: '+12025550111', shows: '407 digest challenge, then answers' },
] as const
