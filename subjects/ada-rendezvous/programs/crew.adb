with Ada.Unchecked_Deallocation;

package body Crew is

   task type Client (Number : Client_Number; Part_Alone, Part_Together : not null Part);

   type Client_Access is access Client;

   procedure Free is new Ada.Unchecked_Deallocation (Client, Client_Access);

   type Gate_Access is access Gate;

   procedure Free is new Ada.Unchecked_Deallocation (Gate, Gate_Access);

   Present  : array (Client_Number) of Client_Access;
   Gathered : Natural := 0;
   Entrance : Gate_Access;

   Present_Duty : Duty := Alone with Atomic;

   ------------
   -- Client --
   ------------

   task body Client is
      Turn   : Parity := 0;
      Rounds : Kit.Iterations;
      Sum    : Kit.Checksum;
   begin
      if Number mod 2 = 0 then
         Kit.Thread_Begins;
      end if;
      loop
         Enter (Entrance.all, Turn, Rounds, Role => (if Number mod 2 = 0 then "partner" else "main"));
         case Present_Duty is
            when Alone    => Part_Alone.all (Number, Rounds, Sum);
            when Together => Part_Together.all (Number, Rounds, Sum);
         end case;
         Entrance.Report (Sum);
      end loop;
   exception
      when Error : others =>
         Entrance.Fail (Error);
   end Client;

   ------------
   -- Gather --
   ------------

   procedure Gather (Clients : Client_Number; Part_Alone, Part_Together : not null Part) is
   begin
      Dismiss;
      Entrance := new Gate;
      for Number in 1 .. Clients loop
         Present (Number) := new Client (Number, Part_Alone, Part_Together);
         Gathered := Number;
      end loop;
   end Gather;

   ---------
   -- Run --
   ---------

   procedure Run (What : Duty; Rounds : Kit.Iterations; Sum : out Kit.Checksum) is
   begin
      Present_Duty := What;
      Entrance.Open (Gathered, Rounds);
      Entrance.Await_All (Sum);
   end Run;

   -------------
   -- Dismiss --
   -------------

   procedure Dismiss is
   begin
      for Number in 1 .. Gathered loop
         abort Present (Number).all;
      end loop;
      for Number in 1 .. Gathered loop
         while not Present (Number).all'Terminated loop
            delay 0.000_1;
         end loop;
         Free (Present (Number));
      end loop;
      Gathered := 0;
      Free (Entrance);
   end Dismiss;

end Crew;
