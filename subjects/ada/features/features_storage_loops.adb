with Ada.Unchecked_Deallocation;

package body Features_Storage_Loops is

   use type Kit.Argument;
   use type Kit.Iterations;

   subtype Positions is Kit.Iterations;

   type Int_Array is array (Positions range <>) of Integer;

   type Array_Ptr is access Int_Array
     with Size => Standard'Address_Size;
   --  One word, with the bounds stored before the elements

   procedure Free is new Ada.Unchecked_Deallocation (Int_Array, Array_Ptr);

   Integer_Bytes : constant := Integer'Size / 8;

   Length : Positions := 1;
   --  In elements

   type Ptr_Array is array (Kit.Iterations range 1 .. Turns_Max) of Array_Ptr;

   type Ptr_Array_Access is access Ptr_Array;

   procedure Free is new Ada.Unchecked_Deallocation (Ptr_Array, Ptr_Array_Access);

   Kept : Ptr_Array_Access;

   First, Second : Array_Ptr;

   --  Objects that the program has lost are still known to Release, by the complements of their addresses: nothing
   --  that looks for pointers, such as a conservative collector, takes these for any

   type Disguise is mod 2 ** Standard'Address_Size;

   function Disguised (Pointer : Array_Ptr) return Disguise;
   function Revealed (Hidden : Disguise) return Array_Ptr;

   type Lost_Array is array (Kit.Iterations range 1 .. Turns_Max) of Disguise;

   type Lost_Array_Access is access Lost_Array;

   procedure Free is new Ada.Unchecked_Deallocation (Lost_Array, Lost_Array_Access);

   Lost       : Lost_Array_Access;
   Lost_Count : Kit.Iterations := 0;

   procedure Check (Index : Kit.Iterations) with Inline;

   procedure Touch (Object : in out Int_Array);

   procedure Rehearse_Exhaustion;

   ---------------
   -- Disguised --
   ---------------

   function Disguised (Pointer : Array_Ptr) return Disguise is
      Copy : aliased constant Array_Ptr := Pointer;
      Bits : Disguise with Import, Address => Copy'Address;
   begin
      return not Bits;
   end Disguised;

   --------------
   -- Revealed --
   --------------

   function Revealed (Hidden : Disguise) return Array_Ptr is
      Bits : aliased constant Disguise := not Hidden;
      Copy : Array_Ptr with Import, Address => Bits'Address;
   begin
      return Copy;
   end Revealed;

   -----------
   -- Check --
   -----------

   procedure Check (Index : Kit.Iterations) is
   begin
      if Index > Turns_Max then
         raise Constraint_Error with "a storage loop has at most" & Integer'Image (Turns_Max) & " turns; lower count";
      end if;
   end Check;

   -----------
   -- Touch --
   -----------

   procedure Touch (Object : in out Int_Array) is
      Page     : constant := 4_096 / Integer_Bytes;
      Position : Positions := Object'First;
   begin
      while Position <= Object'Last loop
         Object (Position) := 1;
         Position := Position + Page;
      end loop;
      Object (Object'Last) := 1;
   end Touch;

   -------------------------
   -- Rehearse_Exhaustion --
   -------------------------

   procedure Rehearse_Exhaustion is
   begin
      raise Storage_Error;
   exception
      when Storage_Error =>
         null;
   end Rehearse_Exhaustion;

   -------------
   -- Prepare --
   -------------

   procedure Prepare (Arg : Kit.Argument) is
   begin
      if Arg < Integer_Bytes or else Arg mod Integer_Bytes /= 0 or else Arg > 2**40 then
         raise Constraint_Error
           with "an object of" & Arg'Image & " bytes; give a multiple of" & Integer'Image (Integer_Bytes)
           & " of at most 2**40";
      end if;
      Release (Arg);
      Length := Positions (Arg / Integer_Bytes);
      Kept   := new Ptr_Array'(others => null); --  the assignments touch every page before time counts
      Lost   := new Lost_Array'(others => 0);
      --  An exception takes storage itself, and there will be none. One raised before leaves a free block of the
      --  right size with the allocator, and stack and unwinding tables that are already there
      Rehearse_Exhaustion;
   end Prepare;

   ----------
   -- Keep --
   ----------

   procedure Keep (Index : Kit.Iterations) is
   begin
      Check (Index);
      Kept (Index) := new Int_Array (1 .. Length);
      Touch (Kept (Index).all);
   end Keep;

   --------------
   -- Keep_Two --
   --------------

   procedure Keep_Two (Index : Kit.Iterations) is
   begin
      Check (Index);
      if Second /= null then
         Lost_Count := Lost_Count + 1;
         Lost (Lost_Count) := Disguised (Second);
      end if;
      Second := First;
      First  := null; --  what the loop has two of is never held three times when storage is refused
      First  := new Int_Array (1 .. Length);
      Touch (First.all);
   end Keep_Two;

   ----------------
   -- Deallocate --
   ----------------

   procedure Deallocate (Index : Kit.Iterations) is
   begin
      Check (Index);
      Free (Second);
      Second := First;
      First  := null;
      First  := new Int_Array (1 .. Length);
      Touch (First.all);
   end Deallocate;

   -------------
   -- Release --
   -------------

   procedure Release (Arg : Kit.Argument) is
      pragma Unreferenced (Arg);
      Object : Array_Ptr;
   begin
      Free (First);
      Free (Second);
      for Index in 1 .. Lost_Count loop
         Object := Revealed (Lost (Index));
         Free (Object);
      end loop;
      Lost_Count := 0;
      Free (Lost);
      if Kept /= null then
         for Pointer of Kept.all loop
            Free (Pointer);
         end loop;
         Free (Kept);
      end if;
   end Release;

end Features_Storage_Loops;
