-- Usage by day, agent and key. A row is written by each call's end, in its transaction, so that reading a year reads the
-- year's rows and no call. Nothing of people is in here: rows stay when calls are forgotten.

-- The key that asked for it; null: no program did, or it was made before keys were noted.
alter table calls add column api_key_id uuid;
alter table batches add column api_key_id uuid;
alter table automation_runs add column api_key_id uuid;

create table daily_usage (
  organization_id     uuid     not null,
  -- The day on which the call was dialled, in the organization's zone of that time.
  day                 date     not null,
  agent_id            uuid     not null,
  -- Of the call, its batch or its run; 00000000-… where no program asked.
  api_key_id          uuid     not null,
  -- Calls that end at once write different rows, so that they do not wait for each other.
  slot                smallint not null,
  -- Dialled ones.
  calls               bigint   not null,
  answered            bigint   not null,
  connected_seconds   bigint   not null,
  -- Millionths of a US dollar by the price table of models.
  model_cost_microusd bigint   not null,
  primary key (organization_id, day, agent_id, api_key_id, slot)
) with (fillfactor = 50);

insert into daily_usage (organization_id, day, agent_id, api_key_id, slot, calls, answered, connected_seconds,
                         model_cost_microusd)
select c.organization_id, (c.dialing_at at time zone (o.policy ->> 'time_zone'))::date, c.agent_id,
       '00000000-0000-0000-0000-000000000000', 0,
       count(*), count(*) filter (where c.answer_status = 'answered'), coalesce(sum(c.duration_seconds), 0),
       coalesce(sum(u.cost), 0)
  from calls c
  join organizations o on o.id = c.organization_id
  left join (select organization_id, call_id, sum(cost_microusd) as cost
               from call_usage
              group by organization_id, call_id) as u
    on u.organization_id = c.organization_id and u.call_id = c.id
 where c.dialing_at is not null
   and c.ended_at is not null
 group by 1, 2, 3;

-- What an organization pays for its calls, as an administrator said. No row: no cost is shown.
create table call_prices (
  organization_id    uuid        primary key,
  -- ISO 4217.
  currency           text        not null check (currency ~ '^[A-Z]{3}$'),
  -- Millionths of the currency's unit, for each dialled call and each minute of a connected one.
  per_call_micros    bigint      not null check (per_call_micros >= 0),
  per_minute_micros  bigint      not null check (per_minute_micros >= 0),
  updated_at         timestamptz not null default now()
);
