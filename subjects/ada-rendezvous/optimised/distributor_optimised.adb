with Fields;
with Kit;
with Switches;

package body Distributor_Optimised is

   use type Kit.Checksum;

   protected type Rendezvous is
      entry Call (X : in Fields.Part);
      entry Accept_Call (X : out Fields.Part);
   private
      entry Queue (X : in Fields.Part);

      Value    : Fields.Part;
      Called   : Boolean := False;
      Accepted : Boolean := False;
   end Rendezvous;

   function Next_Client return Fields.Part;

   task type Client (Number : Fields.Part := Next_Client);

   task Server;

   Initialise : array (Fields.Part) of Rendezvous;
   --  An entry of each client

   Created : Natural := 0;

   function Next_Client return Fields.Part is
   begin
      Created := Created + 1;
      return Created;
   end Next_Client;

   Clients : array (Fields.Part) of Client;
   pragma Unreferenced (Clients);

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

   ------------
   -- Server --
   ------------

   task body Server is
   begin
      loop
         for Part in Fields.Part loop
            Switches.Note;
            Initialise (Part).Call (Part);
         end loop;
      end loop;
   end Server;

   ------------
   -- Client --
   ------------

   task body Client is
      Turn   : Gates.Parity := 0;
      Rounds : Kit.Iterations;
      Part   : Fields.Part;
      Sum    : Kit.Checksum;
   begin
      loop
         Gates.Enter (Entrance, Turn, Rounds);
         Sum := 0;
         for Round in 1 .. Rounds loop
            Switches.Note;
            Initialise (Number).Accept_Call (Part);
            Switches.Note;
            Sum := Sum + Fields.Fill (Part);
         end loop;
         Entrance.Report (Sum);
      end loop;
   end Client;

end Distributor_Optimised;
