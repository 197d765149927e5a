-- For transactions that use rows from an earlier one: fails with serialization_failure if they have changed.
create function require_unchanged(is_unchanged boolean) returns void language plpgsql as $$
begin
  if is_unchanged is not true then
    raise exception 'rows that this transaction uses have changed since they were read'
      using errcode = 'serialization_failure';
  end if;
end $$;
