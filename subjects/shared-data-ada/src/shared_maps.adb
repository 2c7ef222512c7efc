with Ada.Unchecked_Deallocation;

package body Shared_Maps is

   procedure Free is new Ada.Unchecked_Deallocation (Counted_Map, Counted_Map_Access);

   function Create (Map : Maps.Word_Maps.Map) return Ref is
   begin
      return Created : Ref do
         Created.To := new Counted_Map;
         Created.To.Map := Map;
      end return;
   end Create;

   function With_One_More (From : Ref; Key : String) return Ref is
   begin
      return Created : constant Ref := Create (From.To.Map) do
         Maps.Add_One (Created.To.Map, Key);
      end return;
   end With_One_More;

   function Map (From : Ref) return not null access constant Maps.Word_Maps.Map is (From.To.Map'Access);

   overriding procedure Adjust (Object : in out Ref) is
   begin
      if Object.To /= null then
         System.Atomic_Counters.Increment (Object.To.Uses);
      end if;
   end Adjust;

   overriding procedure Finalize (Object : in out Ref) is
      Last : Counted_Map_Access := Object.To;
   begin
      Object.To := null;  --  it may be finalized twice
      if Last /= null and then System.Atomic_Counters.Decrement (Last.Uses) then
         Free (Last);
      end if;
   end Finalize;

end Shared_Maps;
