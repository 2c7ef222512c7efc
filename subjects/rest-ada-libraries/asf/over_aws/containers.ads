--  What serves the servlets: AWS.

with Servlet.Server.Web;

package Containers is

   subtype Container is Servlet.Server.Web.AWS_Container;

   procedure Configure (Server : in out Container; Port : Positive);

end Containers;
