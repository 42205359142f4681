import type { ImportColumn } from '../../../contract/console/imports.ts'

/** What headings of other programs' files mean, in lower case and without anything but letters and digits. */
const usualNames: Readonly<Record<Exclude<ImportColumn, 'source'>, readonly string[]>> = {
  external_id:
    'externalid id contactid customerid customernumber customerno clientid recordid accountid crmid uuid leadid'.split(
      ' ',
    ),
  name: 'name fullname contactname contact customername customer clientname displayname person'.split(
    ' ',
  ),
  first_name: 'firstname givenname forename first fname vorname prenom'.split(' '),
  last_name: 'lastname surname familyname last lname nachname'.split(' '),
  phone_number:
    'phonenumber phone phoneno phonenr phone1 primaryphone mobile mobilephone mobilenumber mobileno cell cellphone cellnumber tel telephone telephonenumber telno telnr telefon telefonnummer handy rufnummer number contactnumber contactphone businessphone workphone homephone msisdn'.split(
      ' ',
    ),
  email: 'email emailaddress mail mailaddress email1'.split(' '),
  company:
    'company companyname organization organisation account accountname firm firma employer business'.split(
      ' ',
    ),
  role: 'role title jobtitle position job function'.split(' '),
  city: 'city town ort stadt locality mailingcity'.split(' '),
  country: 'country countrycode countryname land mailingcountry'.split(' '),
}

const byName = new Map<string, ImportColumn>([
  ['source', 'source'],
  ...Object.entries(usualNames).flatMap(([column, names]) =>
    names.map((name) => [name, column as ImportColumn] as const),
  ),
])

/** A heading is cut before it is compared: no usual name is longer. */
const maxNameCharacters = 60

const plain = (cell: string): string =>
  cell
    .slice(0, maxNameCharacters)
    .normalize('NFKC')
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}]/gu, '')

/**
 * The field of each column by its heading: each field once, by the first column that names it. The parts of a name
 * are left out beside a whole one.
 */
export const usualColumns = (heading: readonly string[]): (ImportColumn | null)[] => {
  const named = heading.map((cell) => byName.get(plain(cell)) ?? null)
  const hasName = named.includes('name')
  return named.map((column, index) => {
    if (column === null || named.indexOf(column) < index) return null
    return hasName && (column === 'first_name' || column === 'last_name') ? null : column
  })
}
