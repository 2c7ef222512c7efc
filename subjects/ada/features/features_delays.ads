--  Delays: the actual against the requested one

package Features_Delays is

   procedure Register;

end Features_Delays;
