/**
 * Short guides: tags without operations. The reference lists them after the operations, and its search finds a
 * concept by its heading.
 */
export const guides: readonly { readonly name: string; readonly description: string }[] = [
  {
    name: 'Waiting: capacity and turns',
    description: `
Accepted work waits in \`queued\` while all channels are taken, while the organization has as many live calls as it may,
while another of its calls is live with the same number, or while others are ahead. It is never dropped and never turned
into a 429. \`GET /calls/{call_id}/explanation\`, and its like for batches and runs, says what the work waits for and, where
that is known, until when.
`.trim(),
  },
  {
    name: 'Calling hours and time zones',
    description: `
An organization's calling policy has weekly hours, judged in the time zone of the callee's number; where several zones are
possible, all must be open. A batch may narrow them with \`calling_window\`, never widen them. Outside the hours a call waits:
that is no error. Hours half-open: \`start_time\` belongs to them, \`end_time\` does not.
`.trim(),
  },
  {
    name: 'Voicemail and answering machines',
    description: `
A call that reaches a mailbox ends \`completed\` with \`answer_status\` \`voicemail\`. The agent hangs up or leaves its message,
as its settings say: the outcome is \`voicemail_skipped\` or \`voicemail_left\`. A busy line is \`busy\`, a phone that nobody
picks up \`no_answer\`.
`.trim(),
  },
  {
    name: 'Retries and redialling',
    description: `
A call is one attempt: it rings a phone at most once. It is dialled again by itself only where no phone can have rung, as
under carrier congestion. To try people again who did not answer, use an Automation: its call step has \`max_attempts\` and
delays.
`.trim(),
  },
  {
    name: 'Opting out and the do-not-call list',
    description: `
Who asks not to be called again is put on the organization's do-not-call list in the same transaction that ends the call
(outcome \`opted_out\`). A listed number is 409 \`recipient_blocked_by_policy\` for calls and runs; in a batch its recipient is
counted failed.
`.trim(),
  },
  {
    name: 'Countries and numbers that are never called',
    description: `
Numbers are strict E.164, such as \`+12025550100\`. Countries the organization has not enabled, premium-rate, satellite and
emergency numbers are 400 \`unsupported_destination\`.
`.trim(),
  },
  {
    name: 'Transferring a call',
    description: `
An agent with the \`transfer_call\` tool can connect the callee with a colleague whom its settings name; the outcome is
\`transferred\`.
`.trim(),
  },
  {
    name: 'Contacts and identities',
    description: `
A contact has your identity (\`source\`, \`external_id\`) and a phone number, each of them once in an organization. POST
/contacts creates, updates or adopts; an identity and a number of two different contacts are 409
\`contact_identity_conflict\`.
`.trim(),
  },
  {
    name: 'Batches: many recipients',
    description: `
A batch is drafted, started, paused, resumed and cancelled as a whole; its counters sum to \`total_recipients\`.
\`GET /calls?batch_id=\` lists its calls.
`.trim(),
  },
  {
    name: 'Summaries, transcripts and recordings',
    description: `
Each becomes ready on its own after the call: poll while \`status\` is \`processing\`, as often as \`poll_after_seconds\` says.
Recordings are MP3; their signed download URL needs no key and lives for \`expires_in\` seconds. \`GET /recordings?call_id=\`
finds that of a call.
`.trim(),
  },
  {
    name: 'Idempotency and safe retries',
    description: `
Send an \`Idempotency-Key\` with every POST that takes one. The same key with the same request answers what the first one
answered, for 24 hours; with another request it is 409 \`idempotency_conflict\`. Retry 429 and 5xx after \`Retry-After\`, with
the same key.
`.trim(),
  },
  {
    name: 'Rate limits and quotas',
    description: `
Five buckets of requests per minute; every answer says what is left (\`RateLimit-Remaining\`). What an organization keeps
(contacts, batches, recipients, answers kept for replay) has generous quotas; beyond them new things are 429 as well, and the
message names the quota.
`.trim(),
  },
  {
    name: 'Pagination and cursors',
    description: `
Lists are newest first. Send \`next_cursor\` back as \`cursor\` with the same filters until it is null.
`.trim(),
  },
  {
    name: 'Errors',
    description: `
Act on \`error.code\` and on \`details.fields\`; \`message\` says in words which rule was broken. Quote \`request_id\` when you ask
for help.
`.trim(),
  },
]
