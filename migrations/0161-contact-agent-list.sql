-- A contact's calls of one agent: calls_contact_list compares the agent behind the page's order, so that of a contact with
-- hundreds of thousands of calls an agent who never called took 20 to 180 ms. The predicate holds for all calls of the API,
-- in words of its own (0150-list-indexes.sql).
create index calls_contact_agent_list
  on calls (organization_id, contact_id, agent_id, status, created_at desc, id desc)
  where origin || '' || '' = 'api';
