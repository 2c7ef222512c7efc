package body General_Selector is

   protected body Selector is

      entry Call (for Its_Entry in Alternative) (X : in Scheme.In_Parameters; Y : out Scheme.Out_Parameters)
        when Now_Open (Its_Entry) is
         pragma Unreferenced (X, Y);
      begin
         Now_Open := (others => False);
         Called := True;
         Selected := Its_Entry;
         requeue Entries (Its_Entry).Call with abort;
      end Call;

      entry Acceptor (Open : in Guards; Chosen : out Alternative) when True is
         pragma Unreferenced (Chosen);
      begin
         Now_Open := Open;
         requeue Await_Call;
      end Acceptor;

      entry Await_Call (Open : in Guards; Chosen : out Alternative) when Called is
         pragma Unreferenced (Open);
      begin
         Called := False;
         Chosen := Selected;
      end Await_Call;

   end Selector;

end General_Selector;
