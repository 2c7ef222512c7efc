static void relax(double **g, int n, int low, int high, int colour)
{
    for (int i = low; i <= high; i++)
        for (int j = 1 + (i + colour) % 2; j <= n; j += 2) {
            double average = (g[i - 1][j] + g[i + 1][j] + g[i][j - 1] + g[i][j + 1]) / 4.0;
            g[i][j] = g[i][j] + 1.5 * (average - g[i][j]);
        }
}

int main(void)
{
    int n = size(1000);
    double **g = malloc((n + 2) * sizeof *g), sum = 0;
    for (int i = 0; i <= n + 1; i++) {
        g[i] = calloc(n + 2, sizeof *g[i]);
        g[i][0] = 100;
    }
    double began = now();
    for (int round = 0; round < 20; round++)
        for (int colour = 0; colour < 2; colour++)
            relax(g, n, 1, n, colour);
    began = now() - began;
    for (int i = 1; i <= n; i++)
        for (int j = 1; j <= n; j++)
            sum += g[i][j];
    printf("%d %d\n", (int)began, (int)sum);
}
