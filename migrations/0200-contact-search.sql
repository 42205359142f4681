-- Contacts are found by the beginnings of words of their name, company and external id, and by parts of their number.
--
-- The words stand in a table of their own and not in an index of `contacts`: a contact that is given again with each call
-- is updated with each call, and every index of its table would be written again. Here a row is written only when the
-- words are others. Each word begins with the organization, so that a search reads no key of another one.

-- Lower case without accents, cut at blanks and ASCII punctuation.
create function search_words(value text) returns setof text language sql immutable parallel safe
begin atomic
  select distinct left(word, 60)
    from regexp_split_to_table(
           lower(regexp_replace(normalize(value, NFKD), '[\u0300-\u036f]', '', 'g')),
           '[\s!-/:-@\[-`{-~]+') as word
   where word <> ''
   -- More are not written of one contact, and not asked for.
   limit 60;
end;

-- The end of the id is random, its beginning is a time.
create function search_scope(organization_id uuid) returns text language sql immutable parallel safe
return right(organization_id::text, 12);

-- A number from its first digit, without a country code of one to three digits, its last seven and its last four digits.
create function contact_words(
  organization_id uuid, name text, company text, external_id text, phone_number text
) returns tsvector language sql immutable parallel safe
return array_to_tsvector(array(
  select search_scope(organization_id) || word
    from search_words(concat_ws(' ', name, company, external_id)) as word
   union
  select search_scope(organization_id) || part
    from unnest(array[substr(phone_number, 2), substr(phone_number, 3), substr(phone_number, 4), substr(phone_number, 5),
                      right(phone_number, 7), right(phone_number, 4)]) as part
));

create table contact_search (
  contact_id      uuid     not null,
  organization_id uuid     not null,
  words           tsvector not null,
  -- In this order: of all contacts of an organization there is only the index of words.
  primary key (contact_id, organization_id)
);

insert into contact_search (contact_id, organization_id, words)
select id, organization_id, contact_words(organization_id, name, company, external_id, phone_number)
  from contacts;

-- Without a list of pending entries, which one unlucky writer would have to sort in.
create index contact_search_words on contact_search using gin (words) with (fastupdate = off);

create function note_contact_words() returns trigger language plpgsql as $$
begin
  insert into contact_search (contact_id, organization_id, words)
  values (new.id, new.organization_id,
          contact_words(new.organization_id, new.name, new.company, new.external_id, new.phone_number))
      on conflict (contact_id, organization_id) do update set words = excluded.words;
  return null;
end
$$;

create trigger contacts_note_words after insert on contacts
  for each row execute function note_contact_words();
create trigger contacts_change_words after update of name, company, external_id, phone_number on contacts
  for each row when (
    (old.name, old.company, old.external_id, old.phone_number)
    is distinct from (new.name, new.company, new.external_id, new.phone_number))
  execute function note_contact_words();

create function forget_contact_words() returns trigger language plpgsql as $$
begin
  delete from contact_search where contact_id = old.id and organization_id = old.organization_id;
  return null;
end
$$;

create trigger contacts_forget_words after delete on contacts
  for each row execute function forget_contact_words();

-- The words of a question, each the beginning of one; a question that looks like a number may also be one with blanks in
-- it, or with the 0 that stands for the own country. Null: it has no word.
create function contact_question(organization_id uuid, question text) returns tsquery language sql immutable parallel safe
return (
  select (case when question ~ '^[0-9+() ./-]+$' and digits <> ''
               then coalesce(words || ' | ', '') || '''' || search_scope(organization_id) || digits || ''':*'
               else words end)::tsquery
    from (select string_agg('''' || search_scope(organization_id) || word || ''':*', ' & ') as words
            from search_words(question) as word) as asked,
         (select ltrim(regexp_replace(question, '[^0-9]', '', 'g'), '0') as digits) as dialled
);

-- The newest contacts that fit, at most `most`. What fits many is found among the newest contacts; what fits few, by its
-- words. A question between the two, that fits more than `bound` but few of the newest, finds some of them.
create function find_contacts(the_organization uuid, question text, most integer) returns setof contacts
language plpgsql stable
set enable_bitmapscan = on
set enable_sort = on
set enable_seqscan = off
set enable_hashjoin = off
set enable_mergejoin = off
as $$
declare
  newest constant integer := 1000;
  bound constant integer := 5000;
  asked constant tsquery := contact_question(the_organization, question);
  found_ids uuid[];
begin
  if asked is null then
    return;
  end if;
  found_ids := array(
    select c.id
      from (select id, created_at
              from contacts
             where organization_id = the_organization
               and id <> '00000000-0000-0000-0000-000000000000'
             order by created_at desc, id desc
             limit newest) as c
     where exists (select from contact_search s
                    where s.contact_id = c.id
                      and s.organization_id = the_organization
                      and s.words @@ asked)
     order by c.created_at desc, c.id desc
     limit most);
  if cardinality(found_ids) < most then
    found_ids := array(
      select s.contact_id
        from contact_search s
       where s.words @@ asked
         and s.organization_id = the_organization
       limit bound);
  end if;
  return query
    select c.*
      from unnest(found_ids) as f (id)
     cross join lateral (
             select * from contacts where organization_id = the_organization and id = f.id limit 1) as c
     order by c.created_at desc, c.id desc
     limit most;
end
$$;
