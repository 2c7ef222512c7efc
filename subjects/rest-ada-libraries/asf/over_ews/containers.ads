--  What serves the servlets: EWS.

with Servlet.Server.EWS;

package Containers is

   subtype Container is Servlet.Server.EWS.EWS_Container;

   procedure Configure (Server : in out Container; Port : Positive);

end Containers;
