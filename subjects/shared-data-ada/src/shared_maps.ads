--  A reference to a map that is never changed, counted, so that who uses it last frees it.

with Ada.Finalization;
with Maps;
with System.Atomic_Counters;

package Shared_Maps is

   type Ref is tagged private;

   function Create (Map : Maps.Word_Maps.Map) return Ref;

   --  A copy of the map in which the count of Key is one more.
   function With_One_More (From : Ref; Key : String) return Ref;

   --  The map; it lives as long as the reference.
   function Map (From : Ref) return not null access constant Maps.Word_Maps.Map;

private

   type Counted_Map is limited record
      Uses : System.Atomic_Counters.Atomic_Counter;  --  begins with 1
      Map  : aliased Maps.Word_Maps.Map;
   end record;

   type Counted_Map_Access is access Counted_Map;

   type Ref is new Ada.Finalization.Controlled with record
      To : Counted_Map_Access;
   end record;

   overriding procedure Adjust (Object : in out Ref);
   overriding procedure Finalize (Object : in out Ref);

end Shared_Maps;
