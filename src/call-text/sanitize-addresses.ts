/** E-mail addresses: written, spoken, and mixed as transcribers do. Every repetition is bounded. */

const label = '[e-mail]'

const written =
  /[\p{L}\p{N}._%+-]{1,64} ?@ ?(?:[\p{L}\p{N}-]{1,63}\.){0,8}[\p{L}\p{N}-]*\p{L}[\p{L}\p{N}-]{0,62}/gu

const word = String.raw`[\p{L}\p{N}._+-]{1,64}`
const joint = String.raw`(?:dot|period|point|underscore|dash|hyphen|minus|plus|punkt|punto|ponto)`
/** `bob`, `bob dot smith`, `b o b`. */
const localPart = String.raw`(?<![\p{L}\p{N}])(?:\p{L} ){0,20}${word}(?: ${joint} ${word}){0,8}`
const at = String.raw`(?:at|@|arroba|arobase|chiocciola|klammeraffe)`
const ending =
  'com|org|net|edu|gov|info|biz|io|ai|me|app|dev|eu|de|at|ch|fr|es|it|uk|ie|nl|be|pt|br|mx|us|ca|au|nz|in|jp|pl|se|no|dk|fi'

/** `at example dot com`, `at g mail dot co dot uk`. */
const spoken = new RegExp(
  String.raw`${localPart} ${at} (?:[\p{L}\p{N}-]{1,63} ){1,2}(?:${joint} [\p{L}\p{N}-]{1,63} ){0,3}(?:dot|period|point|punkt|punto|ponto) (?:${ending})(?![\p{L}\p{N}])`,
  'giu',
)

const mailProviders =
  'gmail|googlemail|g mail|hotmail|outlook|live|msn|yahoo|ymail|aol|icloud|proton|protonmail|gmx|web|mail|comcast|verizon|orange|wanadoo|libero|t-online'

/** `bob at gmail.com`: after other words `at` leads to a web site, which stays. */
const halfSpoken = new RegExp(
  String.raw`${localPart} at (?:${mailProviders})\.(?:[\p{L}\p{N}-]{1,63}\.){0,2}\p{L}{2,24}(?![\p{L}\p{N}])`,
  'giu',
)

export const labelAddresses = (text: string): string =>
  text.replace(written, label).replace(halfSpoken, label).replace(spoken, label)
