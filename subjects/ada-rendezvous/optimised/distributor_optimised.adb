with Switches;

package body Distributor_Optimised is

   protected type Rendezvous is
      entry Call (X : in Fields.Part);
      entry Accept_Call (X : out Fields.Part);
   private
      entry Queue (X : in Fields.Part);

      Value    : Fields.Part;
      Called   : Boolean := False;
      Accepted : Boolean := False;
   end Rendezvous;

   ----------------
   -- Rendezvous --
   ----------------

   protected body Rendezvous is

      entry Call (X : in Fields.Part) when not Called is
      begin
         Value := X;
         Called := True;
         requeue Queue with abort;
      end Call;

      entry Accept_Call (X : out Fields.Part) when Called and not Accepted is
      begin
         X := Value;
         Accepted := True;
      end Accept_Call;

      entry Queue (X : in Fields.Part) when Accepted is
         pragma Unreferenced (X);
      begin
         Called := False;
         Accepted := False;
      end Queue;

   end Rendezvous;

   ---------
   -- Run --
   ---------

   procedure Run (Written : in out Fields.Total) is
      Created : Natural := 0;

      function Next_Client return Fields.Part;

      task type Client (Number : Fields.Part := Next_Client);

      task Server;

      Initialise : array (Fields.Part) of Rendezvous;
      --  An entry of each client

      function Next_Client return Fields.Part is
      begin
         Created := Created + 1;
         return Created;
      end Next_Client;

      Clients : array (Fields.Part) of Client;
      pragma Unreferenced (Clients);

      task body Server is
      begin
         for Part in Fields.Part loop
            Initialise (Part).Call (Part);
            Switches.Note;
         end loop;
      end Server;

      task body Client is
         Part : Fields.Part;
      begin
         Switches.Note;
         Initialise (Number).Accept_Call (Part);
         Switches.Note;
         Fields.Fill (Part, Written);
      end Client;

   begin
      null;
   end Run;

end Distributor_Optimised;
