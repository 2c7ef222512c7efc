--  Runs tasks over data that they share, a counter or a cache, protected in several ways (docs/explanation/shared-data.md): counter_WAY TASKS MS,
--  cache_WAY TASKS WRITES_PER_MILLE MS, starve_WAY READERS MS.

with Ada.Command_Line; use Ada.Command_Line;
with Ada.Exceptions;
with Ada.Strings.Fixed;
with Ada.Text_IO;
with Caches;
with Counters;
with Team;

procedure Shared is

   function Number (Index, Least, Most : Natural) return Natural is
      Word  : constant String := Argument (Index);
      Value : Integer;
   begin
      Value := (if (for all C of Word => C in '0' .. '9') then Integer'Value (Word) else -1);
      if Value not in Least .. Most then
         raise Constraint_Error;
      end if;
      return Value;
   exception
      when Constraint_Error =>
         raise Team.Misuse with "`" & Word & "` must be a number from" & Least'Image & " to" & Most'Image;
   end Number;

   procedure Expect (Arguments : Natural; Usage : String) is
   begin
      if Argument_Count /= Arguments + 1 then
         raise Team.Misuse with "write: " & Argument (1) & " " & Usage;
      end if;
   end Expect;

   Name : constant String := (if Argument_Count > 0 then Argument (1) else "");
   Cut  : constant Natural := Ada.Strings.Fixed.Index (Name, "_");
   Kind : constant String := Name (Name'First .. Cut - 1);
   Way  : constant String := Name (Cut + 1 .. Name'Last);

   Milliseconds_Most : constant := 60_000;

begin
   if Kind = "counter" then
      Expect (2, "TASKS MS");
      Counters.Run (Way, Number (2, 1, Team.Tasks_Most), Number (3, 1, Milliseconds_Most));
   elsif Kind = "cache" then
      Expect (3, "TASKS WRITES_PER_MILLE MS");
      Caches.Run (Way, Number (2, 1, Team.Tasks_Most), Number (3, 0, 1000), Number (4, 1, Milliseconds_Most));
   elsif Kind = "starve" then
      Expect (2, "READERS MS");
      Caches.Starve (Way, Number (2, 1, Team.Tasks_Most - 1), Number (3, 1, Milliseconds_Most));
   else
      raise Team.Misuse with "there is no program `" & Name & "`";
   end if;
exception
   when Error : Team.Misuse | Team.Lost =>
      Ada.Text_IO.Put_Line (Ada.Text_IO.Standard_Error, Ada.Exceptions.Exception_Message (Error));
      Set_Exit_Status (Failure);
end Shared;
