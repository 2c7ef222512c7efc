--  A rendezvous as a protected object (the general scheme): Call and Queue are the caller's side, Accept_Begin and
--  Accept_End the acceptor's; Stage lets them happen in this order only

generic
   type In_Parameters is private;
   type Out_Parameters is private;
package General_Rendezvous is

   type Rendezvous;

   type Rendezvous_Access is access all Rendezvous;

   protected type Rendezvous is

      entry Call (X : in In_Parameters; Y : out Out_Parameters);
      --  Returns when the rendezvous has ended

      entry Accept_Begin (X : out In_Parameters);

      entry Accept_End (Y : in Out_Parameters; Requeue_To : in Rendezvous_Access := null);
      --  Ends the rendezvous, or has the caller call another

      function Is_Called return Boolean;
      --  'Count > 0

   private
      entry Queue (X : in In_Parameters; Y : out Out_Parameters);

      Stage     : Natural range 0 .. 3 := 0;
      In_Values : In_Parameters;
      Results   : Out_Parameters;
      Next      : Rendezvous_Access;
   end Rendezvous;

end General_Rendezvous;
