with Ada.Text_IO;
with Maps; use Maps;
with Shared_Maps;
with Team; use Team;

package body Caches is

   --  A protected procedure excludes all others; a protected function only excludes procedures, if the locking policy lets it.
   protected Object is
      procedure Find (Key : String; Found : out Count);
      function Element (Key : String) return Count;
      procedure Add (Key : String);
      function Sum return Count;
   private
      Map : Word_Maps.Map := First;
   end Object;

   protected body Object is

      procedure Find (Key : String; Found : out Count) is
      begin
         Found := Map.Element (Key);
      end Find;

      function Element (Key : String) return Count is (Map.Element (Key));

      procedure Add (Key : String) is
      begin
         Add_One (Map, Key);
      end Add;

      function Sum return Count is (Maps.Sum (Map));

   end Object;

   --  The map of the ways with copies: never changed, only replaced.
   protected Published is
      function Get return Shared_Maps.Ref;
      procedure Set (Map : Shared_Maps.Ref);
   private
      Current : Shared_Maps.Ref := Shared_Maps.Create (First);
   end Published;

   protected body Published is

      function Get return Shared_Maps.Ref is (Current);

      procedure Set (Map : Shared_Maps.Ref) is
      begin
         Current := Map;
      end Set;

   end Published;

   --  Writers' turns. A task may hold it while it copies, which takes longer than a protected action should.
   protected Turn is
      entry Take;
      procedure Give_Back;
   private
      Taken : Boolean := False;
   end Turn;

   protected body Turn is

      entry Take when not Taken is
      begin
         Taken := True;
      end Take;

      procedure Give_Back is
      begin
         Taken := False;
      end Give_Back;

   end Turn;

   type Reader is access procedure (Key : String; Found : out Count);
   type Writer is access procedure (Key : String);

   procedure Find_Alone (Key : String; Found : out Count) is
   begin
      Object.Find (Key, Found);
   end Find_Alone;

   procedure Find_Together (Key : String; Found : out Count) is
   begin
      Found := Object.Element (Key);
   end Find_Together;

   procedure Find_Published (Key : String; Found : out Count) is
      Current : constant Shared_Maps.Ref := Published.Get;
   begin
      Found := Current.Map.Element (Key);
   end Find_Published;

   procedure Add_Alone (Key : String) is
   begin
      Object.Add (Key);
   end Add_Alone;

   --  Writers that do not take turns: of two that copy at once the later one wins, and the update of the other is lost.
   procedure Add_Weakly (Key : String) is
      Current : constant Shared_Maps.Ref := Published.Get;
   begin
      Published.Set (Current.With_One_More (Key));
   end Add_Weakly;

   procedure Add_In_Turn (Key : String) is
   begin
      Turn.Take;
      Add_Weakly (Key);
      Turn.Give_Back;
   end Add_In_Turn;

   procedure Choose (Program, Way : String; Read : out Reader; Write : out Writer) is
   begin
      Read := Find_Published'Access;
      if Way = "lock" then
         Read := Find_Alone'Access;
         Write := Add_Alone'Access;
      elsif Way = "rwlock" then
         Read := Find_Together'Access;
         Write := Add_Alone'Access;
      elsif Way = "copy" then
         Write := Add_In_Turn'Access;
      elsif Way = "weak" and then Program = "cache" then
         Write := Add_Weakly'Access;
      else
         raise Misuse with "there is no program `" & Program & "_" & Way & "`";
      end if;
   end Choose;

   function Kept return Count is (Object.Sum + Maps.Sum (Published.Get.Map.all));

   procedure Run (Way : String; Tasks : Positive; Writes_Per_Mille : Natural; Time_Ms : Positive) is
      Done       : Accounts (1 .. Tasks);
      Elapsed_Ns : Count;
      Read       : Reader;
      Write      : Writer;

      procedure Work (Mine : in out Account) is
         Key      : Key_Number := Mine.Number mod Keys;
         Permille : Natural;
         Found    : Count;
      begin
         while not Time_Is_Up loop
            for I in 1 .. Operations_A_Look loop
               Key := (Key + 7) mod Keys;
               Draw (Mine, Permille);
               if Permille < Writes_Per_Mille then
                  Write (Words (Key).all);
                  Mine.Updates := Mine.Updates + 1;
               else
                  Read (Words (Key).all, Found);
               end if;
            end loop;
            Mine.Operations := Mine.Operations + Operations_A_Look;
         end loop;
      end Work;

   begin
      Choose ("cache", Way, Read, Write);
      Team.Run (Done, Time_Ms, Work'Access, Elapsed_Ns);
      if Way /= "weak" and then Kept /= Sum_Of_Updates (Done) then
         raise Lost with Way & " lost updates:" & Count'Image (Kept) & " of" & Sum_Of_Updates (Done)'Image & " are left";
      end if;
      Ada.Text_IO.Put_Line ("cache, tasks " & Image (Count (Tasks)) & ", writes " & Image (Count (Writes_Per_Mille)));
      Ada.Text_IO.Put_Line
        ("@@ run elapsed_ns=" & Image (Elapsed_Ns) & " operations=" & Image (Sum_Of_Operations (Done))
         & " updates=" & Image (Sum_Of_Updates (Done)) & " kept=" & Image (Kept));
   end Run;

   procedure Starve (Way : String; Readers, Time_Ms : Positive) is
      Done       : Accounts (1 .. Readers + 1);
      Elapsed_Ns : Count;
      Read       : Reader;
      Write      : Writer;

      procedure Work (Mine : in out Account) is
         Writes   : constant Boolean := Mine.Number = Readers;
         Key      : Key_Number := Mine.Number mod Keys;
         Found    : Count;
         Began_Ns : Count;
      begin
         --  A writer goes on until it has written once, whenever that is.
         while not Time_Is_Up or else (Writes and then Mine.Updates = 0) loop
            Key := (Key + 7) mod Keys;
            if Writes then
               Began_Ns := Now_Ns;
               Write (Words (Key).all);
               Mine.Longest_Wait_Ns := Count'Max (Mine.Longest_Wait_Ns, Now_Ns - Began_Ns);
               Mine.Updates := Mine.Updates + 1;
               delay 0.0;
            else
               Read (Words (Key).all, Found);
               Mine.Operations := Mine.Operations + 1;
            end if;
         end loop;
      end Work;

   begin
      Choose ("starve", Way, Read, Write);
      Team.Run (Done, Time_Ms, Work'Access, Elapsed_Ns);
      Ada.Text_IO.Put_Line ("one writer, readers " & Image (Count (Readers)));
      Ada.Text_IO.Put_Line
        ("@@ run elapsed_ns=" & Image (Elapsed_Ns) & " whole_ns=" & Image (Elapsed_Ns)
         & " operations=" & Image (Sum_Of_Operations (Done)) & " updates=" & Image (Sum_Of_Updates (Done))
         & " longest_wait_ns=" & Image (Done (Done'Last).Longest_Wait_Ns));
   end Starve;

end Caches;
