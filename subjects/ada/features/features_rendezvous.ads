--  Rendezvous: what an entry call and its accept cost, the caller being the main thread unless several callers
--  contend

package Features_Rendezvous is

   procedure Register;

end Features_Rendezvous;
