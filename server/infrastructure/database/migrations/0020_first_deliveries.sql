-- Until an endpoint has answered 2xx (activated_at), the only delivery that it is sent.
alter table subscriptions add column first_delivery_guid uuid;
