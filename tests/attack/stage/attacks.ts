import { byeFlood } from '../attacks/bye-flood.ts'
import { connectionExhaustion } from '../attacks/connection-exhaustion.ts'
import { digestCredentials } from '../attacks/digest-credentials.ts'
import { firstStartKey } from '../attacks/first-start-key.ts'
import { forgedDialog } from '../attacks/forged-dialog.ts'
import { forgedResponses } from '../attacks/forged-responses.ts'
import { fraudNumbers } from '../attacks/fraud-numbers.ts'
import { fullLogDisk, standingLogReader } from '../attacks/full-log-disk.ts'
import { httpHeadCost } from '../attacks/http-head-cost.ts'
import { httpSmuggling } from '../attacks/http-smuggling.ts'
import { inventedKeys } from '../attacks/invented-keys.ts'
import { lateRouteSet } from '../attacks/late-route-set.ts'
import { pipelinedRequests } from '../attacks/pipelined-requests.ts'
import { privateAddresses } from '../attacks/private-addresses.ts'
import { readyzFlood } from '../attacks/readyz-flood.ts'
import { rtpInjection } from '../attacks/rtp-injection.ts'
import { rtpRace } from '../attacks/rtp-race.ts'
import { sipMessageCost } from '../attacks/sip-message-cost.ts'
import { sipStreamCost } from '../attacks/sip-stream-cost.ts'
import { slowReaders } from '../attacks/slow-readers.ts'
import { strangerRequests } from '../attacks/stranger-requests.ts'
import { terminalEscapes } from '../attacks/terminal-escapes.ts'
import { toolFraming } from '../attacks/tool-framing.ts'
import { unreadAnswers } from '../attacks/unread-answers.ts'
import { transferTargets } from '../attacks/transfer-targets.ts'
import { trunkReflection } from '../attacks/trunk-reflection.ts'
import { freshOrganizations } from '../attacks/fresh-organizations.ts'
import { slowLists } from '../attacks/slow-lists.ts'
import { unanalyzedClaims } from '../attacks/unanalyzed-claims.ts'
import { secondNode } from '../attacks/second-node.ts'
import { pausedProcess } from '../attacks/paused-process.ts'
import { storageQuotas } from '../attacks/storage-quotas.ts'
import { hostileBackups } from '../attacks/hostile-backups.ts'
import { productionInstall } from '../attacks/production-install.ts'
import { signingSecret } from '../attacks/signing-secret.ts'
import { startedAsRoot } from '../attacks/started-as-root.ts'
import { sipTlsCost } from '../attacks/sip-tls-cost.ts'
import type { Attack } from './attack.ts'

/** Every attack, in the order of execution. */
export const attacks: readonly Attack[] = [
  firstStartKey,
  strangerRequests,
  forgedDialog,
  forgedResponses,
  trunkReflection,
  rtpInjection,
  rtpRace,
  digestCredentials,
  lateRouteSet,
  byeFlood,
  sipMessageCost,
  sipStreamCost,
  sipTlsCost,
  httpHeadCost,
  httpSmuggling,
  pipelinedRequests,
  slowReaders,
  unreadAnswers,
  connectionExhaustion,
  readyzFlood,
  inventedKeys,
  fraudNumbers,
  storageQuotas,
  transferTargets,
  toolFraming,
  privateAddresses,
  terminalEscapes,
  fullLogDisk,
  standingLogReader,
  pausedProcess,
  secondNode,
  signingSecret,
  hostileBackups,
  startedAsRoot,
  productionInstall,
  unanalyzedClaims,
  slowLists,
  freshOrganizations,
]
