-- From a number that a person calls to the organizations whose callees see it.
create index caller_numbers_called on caller_numbers (phone_number, organization_id);
