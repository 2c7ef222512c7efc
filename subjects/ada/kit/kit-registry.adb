with Ada.Containers.Indefinite_Hashed_Maps;
with Ada.Strings.Hash;

package body Kit.Registry is

   package Name_Maps is new Ada.Containers.Indefinite_Hashed_Maps (String, Positive, Ada.Strings.Hash, "=");

   Places : Name_Maps.Map;

   procedure Append (Item : Entry_Of_Test) is
   begin
      if Item.Name = "" or else (for some C of Item.Name => C not in 'a' .. 'z' | '0' .. '9' | '_' | '.' | '-') then
         raise Misnamed with "the name of test """ & Item.Name & """ has other characters than a-z 0-9 _ . -";
      elsif Places.Contains (Item.Name) then
         raise Misnamed with "test " & Item.Name & " is registered twice";
      end if;
      Tests.Append (Item);
      Places.Insert (Item.Name, Tests.Last_Index);
   end Append;

   procedure Add (Name, Arg_Unit : String; Action : Actions; Work : String := "") is
   begin
      Append
        (Entry_Of_Test'
           (Kind          => Action.Kind,
            Name_Length   => Name'Length,
            Unit_Length   => Arg_Unit'Length,
            Work_Length   => Work'Length,
            Absent_Length => 0,
            Name          => Name,
            Arg_Unit      => Arg_Unit,
            Work          => Work,
            Absent        => "",
            Action        => Action));
   end Add;

   function Kind_Of (Image_Of_Kind : String) return Test_Kind is
   begin
      for Kind in Test_Kind loop
         if Image (Kind) = Image_Of_Kind then
            return Kind;
         end if;
      end loop;
      raise Misnamed with """" & Image_Of_Kind & """ is no kind of test: frame, latency, series";
   end Kind_Of;

   function No_Actions (Kind : Test_Kind) return Actions
   is (case Kind is
         when Frame_Test   => (Frame_Test, null, null, 1, null, null, null, Undeclared),
         when Latency_Test => (Latency_Test, null, null, 1, null),
         when Series_Test  => (Series_Test, null, null, 1, null));

   procedure Add_Absent (Name, Kind, Reason : String; Work : String := "") is
      Its_Kind : constant Test_Kind := Kind_Of (Kind);
   begin
      if Reason = "" then
         raise Misnamed with "test " & Name & " is absent without a reason";
      end if;
      Append
        (Entry_Of_Test'
           (Kind          => Its_Kind,
            Name_Length   => Name'Length,
            Unit_Length   => 0,
            Work_Length   => Work'Length,
            Absent_Length => Reason'Length,
            Name          => Name,
            Arg_Unit      => "",
            Work          => Work,
            Absent        => Reason,
            Action        => No_Actions (Its_Kind)));
   end Add_Absent;

   function Find (Name : String) return Natural is
      Place : constant Name_Maps.Cursor := Places.Find (Name);
   begin
      return (if Name_Maps.Has_Element (Place) then Name_Maps.Element (Place) else 0);
   end Find;

end Kit.Registry;
