-- How well each direction of an answered call's audio was carried, for its administrators; no words and no numbers.

create table call_quality (
  organization_id uuid     not null,
  call_id         uuid     not null,
  -- Seen from the callee: what they said, and what they heard.
  direction       text     not null check (direction in ('from_callee', 'to_callee')),
  packets         bigint   not null check (packets >= 0),
  -- Null where the other side sent no RTCP report.
  packets_lost    bigint   check (packets_lost >= 0),
  -- Of what we receive: after their playout time, and frames of 20 ms that were concealed.
  packets_late    bigint   check (packets_late >= 0),
  concealed       bigint   check (concealed >= 0),
  jitter_ms       real     check (jitter_ms >= 0),
  -- The wait of packets at the end of the call.
  delay_ms        real     check (delay_ms >= 0),
  round_trip_ms   real     check (round_trip_ms >= 0),
  -- E-model (ITU-T G.107), 1 to 4.5; null where nothing is known.
  mos             real     check (mos between 1 and 4.5),
  primary key (organization_id, call_id, direction),
  foreign key (organization_id, call_id) references calls (organization_id, id) on delete cascade
);
