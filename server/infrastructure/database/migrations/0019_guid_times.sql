-- Objects from before the trigger of 0017. A migration of its own: this one locks no more than the rows it changes.
update objects set guid_time_differs = true
where not guid_time_differs and guid_time_differs(guid, created_at);
