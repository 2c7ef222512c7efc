static void product(const double *a, const double *b, double *c, int n)
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            double sum = 0;
            for (int k = 0; k < n; k++)
                sum = sum + a[i * n + k] * b[k * n + j];
            c[i * n + j] = sum;
        }
}

int main(void)
{
    int n = size(300);
    double *a = malloc(n * n * sizeof *a), *b = malloc(n * n * sizeof *b), sum = 0;
    double *c = malloc(n * n * sizeof *c);
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            a[i * n + j] = i + j + 2;
            b[i * n + j] = (i + 1) * (j + 1) % 7;
        }
    double began = now();
    product(a, b, c, n);
    began = now() - began;
    for (int i = 0; i < n; i++)
        sum += c[i * n + i];
    printf("%d %d\n", (int)began, (int)sum);
}
