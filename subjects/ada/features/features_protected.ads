--  Protected objects: their operations without contention (ACES pt_po04 to pt_po06 and more), and with

package Features_Protected is

   procedure Register;

end Features_Protected;
