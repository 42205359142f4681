import { z } from 'zod'
import type { ToolSpec } from '../engine/voice-engine.ts'

/** A call of a built-in tool. */
export type BuiltInCall =
  | { readonly name: 'end_call'; readonly outcome?: string }
  | { readonly name: 'send_dtmf'; readonly digits: string }
  | { readonly name: 'opt_out' }
  | { readonly name: 'voicemail_detected' }
  | { readonly name: 'transfer_call' }

export type ParsedToolCall =
  | { readonly kind: 'built_in'; readonly call: BuiltInCall }
  /** The model sent wrong arguments; the error is the tool's result. */
  | { readonly kind: 'invalid'; readonly error: string }
  | { readonly kind: 'custom' }

const maxDigits = 32

const callSchemas = {
  end_call: z.object({ outcome: z.string().max(64).optional() }),
  send_dtmf: z.object({
    digits: z
      .string()
      .max(maxDigits)
      .regex(/^[0-9A-D*#]+$/),
  }),
  opt_out: z.object({}),
  voicemail_detected: z.object({}),
  // Members that the model adds are dropped: only the agent's settings name the transfer target.
  transfer_call: z.object({}),
} as const

/**
 * Offered to agents whose settings name a colleague. It takes no target, so the callee cannot
 * choose one.
 */
export const transferTool: ToolSpec = {
  name: 'transfer_call',
  description:
    'Connects the person with a colleague of yours, who takes the call over. Say so first, in the same answer. If it fails you are told, and go on with the conversation.',
  parameters: { type: 'object', properties: {}, additionalProperties: false },
}

/**
 * Every agent can end the call, send digits, record an opt-out and report a voicemail.
 * @param outcomes the slugs from which the agent chooses the outcome of the call
 */
export const builtInTools = (outcomes: readonly string[]): ToolSpec[] => [
  {
    name: 'end_call',
    description: 'Hangs up. Say goodbye first, in the same answer; it is played to its end.',
    parameters: {
      type: 'object',
      properties: {
        outcome: {
          type: 'string',
          enum: outcomes,
          description: 'How the call went, judged by its purpose.',
        },
      },
      additionalProperties: false,
    },
  },
  {
    name: 'send_dtmf',
    description: 'Presses keys of the telephone, for menus.',
    parameters: {
      type: 'object',
      properties: { digits: { type: 'string', pattern: '^[0-9A-D*#]+$', maxLength: maxDigits } },
      required: ['digits'],
      additionalProperties: false,
    },
  },
  {
    name: 'opt_out',
    description: 'The person asked never to be called again. Their number will be barred.',
    parameters: { type: 'object', properties: {}, additionalProperties: false },
  },
  {
    name: 'voicemail_detected',
    description: 'A voicemail or an answering machine is speaking, not a person.',
    parameters: { type: 'object', properties: {}, additionalProperties: false },
  },
]

/** Parses a model's arguments; never throws. */
export const parseToolCall = (name: string, toolArguments: unknown): ParsedToolCall => {
  if (!Object.hasOwn(callSchemas, name)) return { kind: 'custom' }
  const builtIn = name as keyof typeof callSchemas
  const parsed = callSchemas[builtIn].safeParse(toolArguments ?? {})
  if (!parsed.success) return { kind: 'invalid', error: `Wrong arguments for ${name}.` }
  return { kind: 'built_in', call: { name: builtIn, ...parsed.data } as BuiltInCall }
}
