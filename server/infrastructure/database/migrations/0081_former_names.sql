-- Names that migrations 0040, 0041 and 0077 kept for nodes of the version before them.
drop view delivery_consignments;
drop view file_removals;
drop function drop_partition(text, text);
