package body General_Rendezvous is

   protected body Rendezvous is

      entry Call (X : in In_Parameters; Y : out Out_Parameters) when Stage = 0 is
         pragma Unreferenced (Y);
      begin
         In_Values := X;
         Stage := Stage + 1;
         requeue Queue with abort;
      end Call;

      entry Accept_Begin (X : out In_Parameters) when Stage = 1 is
      begin
         X := In_Values;
         Stage := Stage + 1;
      end Accept_Begin;

      entry Accept_End (Y : in Out_Parameters; Requeue_To : in Rendezvous_Access := null) when Stage = 2 is
      begin
         Results := Y;
         Next := Requeue_To;
         Stage := Stage + 1;
      end Accept_End;

      entry Queue (X : in In_Parameters; Y : out Out_Parameters) when Stage = 3 is
         pragma Unreferenced (X);
      begin
         Y := Results;
         Stage := 0;
         if Next /= null then
            requeue Next.Call with abort;
         end if;
      end Queue;

      function Is_Called return Boolean
      is (Stage = 1 or Call'Count > 0);

   end Rendezvous;

end General_Rendezvous;
