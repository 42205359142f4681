import { z } from 'zod'
import { dateTime, opaqueId, text } from '../fields.ts'
import { maxPasswordLength, minPasswordLength } from '../password-length.ts'
import { roles } from '../roles.ts'

/** An e-mail address; compared without regard to case. */
export const emailAddress = text(3, 254)
  .regex(/^[^\s@]+@[^\s@.]+(?:\.[^\s@.]+)*$/)
  .overwrite((value) => value.toLowerCase())

const password = z.string().min(minPasswordLength).max(maxPasswordLength)
const givenPassword = z.string().min(1).max(maxPasswordLength)
const code = text(6, 40)
const secret = z.string().min(1).max(200)

export const role = z.enum(roles)

export const membership = z.strictObject({
  organization_id: opaqueId,
  name: z.string(),
  mode: z.enum(['sandbox', 'live']).nullable(),
  time_zone: z.string(),
  role,
})

/** Who is signed in, and what they may look at. */
export const session = z.strictObject({
  id: opaqueId,
  account: z.strictObject({
    id: opaqueId,
    name: z.string(),
    email: z.string(),
    two_factor: z.boolean(),
    administers_installation: z.boolean(),
  }),
  organization_id: opaqueId,
  role,
  organizations: z.array(membership),
})

export const signInInput = z.strictObject({
  email: emailAddress,
  password: givenPassword,
  code: code.optional(),
})

export const signInResult = z.strictObject({ status: z.enum(['signed_in', 'code_required']) })

export const done = z.strictObject({ status: z.literal('done') })

export const accountSession = z.strictObject({
  id: opaqueId,
  is_current: z.boolean(),
  address: z.string().nullable(),
  user_agent: z.string().nullable(),
  created_at: dateTime,
  last_seen_at: dateTime,
  expires_at: dateTime,
})
export const accountSessionList = z.strictObject({ data: z.array(accountSession) })
export const accountSessionPath = z.strictObject({ session_id: opaqueId })

export const organizationChoice = z.strictObject({ organization_id: opaqueId })
export const passwordChange = z.strictObject({ current: givenPassword, password })
export const passwordProof = z.strictObject({ password: givenPassword })
export const codeProof = z.strictObject({ code })
export const twoFactorSetup = z.strictObject({
  uri: z.string(),
  recovery_codes: z.array(z.string()),
})
export const recoveryCodes = z.strictObject({ recovery_codes: z.array(z.string()) })

export const setupInput = z.strictObject({
  secret,
  organization: text(1, 200),
  name: text(1, 200),
  email: emailAddress,
  password,
})
export const secretInput = z.strictObject({ secret })
export const setupState = z.strictObject({ status: z.enum(['open', 'closed']) })

export const member = z.strictObject({
  account_id: opaqueId,
  name: z.string(),
  email: z.string(),
  role,
  two_factor: z.boolean(),
  last_seen_at: dateTime.optional(),
  created_at: dateTime,
})
export const memberList = z.strictObject({ data: z.array(member) })
export const memberPath = z.strictObject({ account_id: opaqueId })
export const roleChange = z.strictObject({ role })

export const invitation = z.strictObject({
  id: opaqueId,
  email: z.string(),
  role,
  created_at: dateTime,
  expires_at: dateTime,
})
export const newInvitation = invitation.extend({
  /** Shown once. */
  link: z.string(),
})
export const invitationList = z.strictObject({ data: z.array(invitation) })
export const invitationPath = z.strictObject({ invitation_id: opaqueId })
export const invitationInput = z.strictObject({ email: emailAddress, role })
/** What the one who holds the secret is shown. */
export const shownInvitation = z.strictObject({
  organization: z.string(),
  email: z.string(),
  role,
  has_account: z.boolean(),
  expires_at: dateTime,
})
export const invitationAcceptance = z.strictObject({
  secret,
  /** Of a new account. */
  name: text(1, 200).optional(),
  /** Of the account that the address has, else of the one that is made. */
  password,
  code: code.optional(),
})
