--  A hand-off to another task and back by suspension objects (Ada.Synchronous_Task_Control), beside the rendezvous
--  that does it in one construct. (C has the semaphores and condition variables.)

package Features_Handoff is

   procedure Register;

end Features_Handoff;
