--  Writes the packages of the rendezvous with 1, 10 and 100 INTEGER parameters, one for each mode

package Rendezvous_Sources is

   procedure Write;

end Rendezvous_Sources;
