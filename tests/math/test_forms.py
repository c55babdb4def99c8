"""Form by form: what a mathematical answer may look like and still be the same, and what looks alike and is not.

Every line is a pair, read in both directions.
"""

from __future__ import annotations

from grpo_rewards import get_reward

SAME = r"""
1/2 | 0.5
\frac12 | 1/2
\dfrac{3}{4} | 0.75
1\frac{1}{2} | 3/2
-\frac{7}{3} | \frac{-7}{3}
\sqrt{8} | 2\sqrt{2}
\sqrt[3]{27} | 3
\sqrt[3]{-8} | -2
2^{10} | 1024
2^{-2} | 0.25
10^{3} | 1000
1.5 \times 10^{3} | 1500
3\cdot 4 | 12
6 \div 3 | 2
5! | 120
\binom{5}{2} | 10
\dbinom{6}{3} | 20
|-3| | 3
\left|2-5\right| | 3
\lfloor 2.7 \rfloor | 2
\lceil 2.1 \rceil | 3
\gcd(12, 18) | 6
\operatorname{lcm}(4, 6) | 12
\max(2, 5) | 5
\min(2, 5) | 2
\log_2 8 | 3
\log_{10} 1000 | 3
\ln e | 1
\ln e^2 | 2
e^0 | 1
\sin(\pi/6) | 1/2
\cos 60^\circ | 1/2
\tan(\pi/4) | 1
\cot(\pi/4) | 1
\sec 0 | 1
\csc(\pi/2) | 1
\arcsin 1 | \pi/2
\arccos 0 | \pi/2
\arctan 1 | \frac{\pi}{4}
\sin^{-1} 1 | \frac{\pi}{2}
\sin^2 x + \cos^2 x | 1
\sinh 0 | 0
\cosh 0 | 1
2\pi | 6\pi/3
i^2 | -1
(1+i)^2 | 2i
\frac{1}{1+i} | \frac{1-i}{2}
|3+4i| | 5
e^{i\pi} | -1
x^2 - 1 | (x-1)(x+1)
(x+1)^2 | x^2+2x+1
\frac{x^2-1}{x-1} | x+1
\frac{1}{x} + \frac{1}{y} | \frac{x+y}{xy}
a(b+c) | ab+ac
2x+3y | 3y+2x
\sqrt{x^2 y^2} | |xy|
x^{1/2} | \sqrt{x}
\frac{1}{\sqrt{2}} | \frac{\sqrt{2}}{2}
\frac{1}{2+\sqrt{3}} | 2-\sqrt{3}
\sqrt{3+2\sqrt{2}} | 1+\sqrt{2}
x=5 | 5
5 | x = 5
y = 2x + 1 | y=1+2x
2x - y + 1 = 0 | y = 2x + 1
x^2+y^2=4 | \frac{x^2}{4}+\frac{y^2}{4}=1
y = \frac{1}{x} | xy = 1
(1,2) | \left(1, 2\right)
(1, 2, 3) | (1,2,3)
(0.5, 1) | (\frac{1}{2}, 1)
[0,1] | \left[0, 1\right]
(-\infty, 3) | x < 3
[2, \infty) | x \ge 2
(2,5] | 2 < x \le 5
x>1 | 1<x
(-\infty,-2)\cup(2,\infty) | |x| > 2
(-3,3) | |x|<3
x \in [0, 1] | 0 \le x \le 1
x \neq 0 | (-\infty,0)\cup(0,\infty)
\mathbb{R} | (-\infty, \infty)
\mathbb{R}\setminus\{1\} | x \ne 1
x < 1 \text{ or } x > 3 | (-\infty,1)\cup(3,\infty)
(0,2)\cap(1,3) | (1,2)
\{1,2,3\} | \{3,2,1\}
\{1, 2\} | 1, 2
1, 2, 3 | 3, 2, 1
1 \text{ and } 2 | 2, 1
x=1 \text{ or } x=-1 | \pm 1
\pm 2 | -2, 2
\pm\sqrt{2} | \sqrt{2}, -\sqrt{2}
1\pm\sqrt{3} | 1+\sqrt{3}, 1-\sqrt{3}
\emptyset | \{\}
\varnothing | \emptyset
\begin{pmatrix}1&2\\3&4\end{pmatrix} | \begin{bmatrix}1&2\\3&4\end{bmatrix}
\begin{pmatrix}1\\2\end{pmatrix} | \begin{bmatrix}1\\2\end{bmatrix}
2\begin{pmatrix}1&0\\0&1\end{pmatrix} | \begin{pmatrix}2&0\\0&2\end{pmatrix}
\begin{pmatrix}1&1\\0&1\end{pmatrix}\begin{pmatrix}1\\2\end{pmatrix} | \begin{pmatrix}3\\2\end{pmatrix}
\begin{pmatrix}1&2\\3&4\end{pmatrix}^T | \begin{pmatrix}1&3\\2&4\end{pmatrix}
\begin{vmatrix}1&2\\3&4\end{vmatrix} | -2
\det\begin{pmatrix}2&0\\0&3\end{pmatrix} | 6
\begin{pmatrix}1/2\\0\end{pmatrix} | \begin{pmatrix}0.5\\0\end{pmatrix}
[[1,2],[3,4]] | \begin{pmatrix}1&2\\3&4\end{pmatrix}
\begin{cases}1&x>0\\0&x\le 0\end{cases} | \begin{cases}0&x\le 0\\1&x>0\end{cases}
50\% | 50%
0.5 | 50\%
5 \text{ cm} | 5
5\text{ cm} | 5 cm
90^\circ | 90
\$18 | 18
\$1,234.50 | 1234.5
12\text{ m/s} | 12
3:00\text{ PM} | 3:00 PM
1:2 | 2:4
3:4 | \frac{3}{4}
1,000,000 | 1000000
10{,}000 | 10000
\frac{22}{7} | 3\frac{1}{7}
\text{(B)} | B
\text{B} | (B)
\text{Monday} | Monday
\text{Yes} | yes
2^{x+1} | 2\cdot 2^x
\log(xy) | \log x + \log y
\ln(x^2) | 2\ln|x|
e^{x+y} | e^x e^y
\sin 2x | 2\sin x\cos x
\cos 2x | 1-2\sin^2 x
\tan x | \frac{\sin x}{\cos x}
\sum_{k=1}^{10} k | 55
\prod_{k=1}^{4} k | 24
\sum_{i=0}^{3} 2^i | 15
\int_0^1 x dx | \frac12
\int_0^1 x^2 \, dx | \frac{1}{3}
\lim_{x\to 0}\frac{\sin x}{x} | 1
101_2 | 101_{2}
x^2+C | C+x^2
f(x)=x^2 | x^2
\angle ABC = 30^\circ | 30^\circ
\frac{\pi}{3} | 60^\circ
n! | n\cdot (n-1)!
\frac{n!}{(n-1)!} | n
C_5^2 | 10
0.\overline{3} | \frac13
0.1\overline{6} | \frac{1}{6}
3.14159 | 3.14159
x_1 = 2, x_2 = 3 | 2, 3
x = 2, y = 3 | (2,3)
a = 1, b = 2 | b=2, a=1
-x+1 | 1-x
\frac{-1}{-2} | \frac12
(-1)^n | (-1)^{n+2}
x^3-8 | (x-2)(x^2+2x+4)
\sqrt[4]{16} | 2
16^{3/4} | 8
(-8)^{1/3} | -2
2x<4 | x<2
-2x<4 | x>-2
x^2<4 | -2<x<2
x^2 \ge 1 | x\le -1 \text{ or } x\ge 1
\frac{1}{x} > 0 | x > 0
x(x-1) < 0 | (0,1)
y > 2x | y - 2x > 0
\text{no solution} | \emptyset
\infty | +\infty
-\infty | -\infty
\sqrt{-4} | 2i
\langle 1, 2 \rangle | (1, 2)
\vec{i}+2\vec{j} | \vec{i} + 2\vec{j}
\left\lfloor \frac{7}{2} \right\rfloor | 3
7 \bmod 3 | 1
\frac{\sqrt{6}+\sqrt{2}}{4} | \cos 15^\circ
\sin 75^\circ | \frac{\sqrt{6}+\sqrt{2}}{4}
2\sin\frac{x}{2}\cos\frac{x}{2} | \sin x
\frac{d}{dx}x^2 | 2x
1 \text{ hour } 30 \text{ minutes} | 1 \text{ hour } 30 \text{ minutes}
12\% | 12 \%
x^{-1} | \frac1x
\frac{a}{b}\cdot\frac{c}{d} | \frac{ac}{bd}
\frac{\frac12}{\frac34} | \frac23
\sqrt{12}+\sqrt{27} | 5\sqrt3
2\log 3 | \log 9
\log_4 2 | 0.5
\log_9 27 | 1.5
e^{\ln 5} | 5
10^{\log 7} | 7
3+2\cdot 4 | 11
(3+2)\cdot 4 | 20
2^{2^{3}} | 256
-3^2 | -9
(-3)^2 | 9
\operatorname{sgn}(-3) | -1
6!! | 48
5!! | 15
\Gamma(5) | 24
\operatorname{Re}(3+4i) | 3
\operatorname{Im}(3+4i) | 4
\arg(i) | \frac{\pi}{2}
|1+i| | \sqrt2
\lfloor \pi \rfloor | 3
\lceil -\pi \rceil | -3
\max(\pi, 3) | \pi
\min(e, 3) | e
\operatorname{arcsec} 2 | \frac{\pi}{3}
\coth x | \frac{\cosh x}{\sinh x}
\operatorname{arcsinh} 0 | 0
\binom{n}{1} | n
\binom{4}{0} | 1
\lvert -7 \rvert | 7
\Bbb{R} | \mathbb{R}
\R | \mathbb{R}
\Z | \mathbb{Z}
\mathbb{R}^{3} | \mathbb{R}^3
\hat{x} | \hat{x}
\vec{AB} | \vec{AB}
\triangle ABC | \triangle ABC
2\imath | 2i
90^{\circ} | 90^\circ
30^\circ 30' | 30.5^\circ
20^\circ C | 20^\circ C
f'(x) = 2x | 2x
f^{-1}(x) = x - 1 | x-1
2^{3!} | 64
2^{-1} | 0.5
x^{+2} | x^2
2^{3}^{2} | 512
A^\top | A^\top
1 \mp 2 | -1, 3
\frac12\pi | \frac{\pi}{2}
\frac1{10} | 0.1
\cfrac{1}{2} | 0.5
\tfrac{2}{4} | 0.5
3 {1 \over 2} | \frac{3}{2}
\sqrt 9 | 3
\sqrt{\sqrt{16}} | 2
\sqrt[n]{x} | x^{1/n}
\sin x \cos x | \frac12 \sin 2x
\sin^{2}\theta | (\sin\theta)^2
\cos(\arcsin x) | \sqrt{1-x^2}
\log_{2}(x^3) | 3\log_2 x
\log_a b | \frac{\ln b}{\ln a}
\exp(2) | e^2
\exp(-x) | \frac{1}{e^{x}}
\sum_{n=1}^{\infty} \frac{1}{2^n} | 1
\sum_{k=0}^{4} \binom{4}{k} | 16
\prod_{i=1}^{3} (2i) | 48
\int_0^{\pi} \sin x\,dx | 2
\int_1^e \frac{1}{x}\,dx | 1
\lim_{n\to\infty}\left(1+\frac1n\right)^n | e
\lim_{x \to 2} x^2 | 4
\begin{pmatrix}a&b\\c&d\end{pmatrix} | \begin{bmatrix}a&b\\c&d\end{bmatrix}
\begin{array}{cc}1&2\\3&4\end{array} | \begin{pmatrix}1&2\\3&4\end{pmatrix}
\begin{pmatrix}1&2\\3&4\end{pmatrix}+\begin{pmatrix}1&0\\0&1\end{pmatrix} | \begin{pmatrix}2&2\\3&5\end{pmatrix}
\begin{pmatrix}1&2\\3&4\end{pmatrix}-\begin{pmatrix}1&2\\3&4\end{pmatrix} | \begin{pmatrix}0&0\\0&0\end{pmatrix}
\frac12\begin{pmatrix}2\\4\end{pmatrix} | \begin{pmatrix}1\\2\end{pmatrix}
\begin{cases}x=1\\y=2\end{cases} | (1,2)
\begin{cases} x^2 & x \geq 0 \\ -x & x < 0 \end{cases} | \begin{cases} -x & x < 0 \\ x^2 & x \geq 0 \end{cases}
]0,1[ | (0,1)
[1,+\infty[ | [1,\infty)
(-\infty, 1] \cup [3, 5) | [3,5)\cup(-\infty,1]
(1,3)\cup(2,5) | (1,5)
[1,2]\cup\{3\} | \{3\}\cup[1,2]
\{x \mid x > 2\} | (2,\infty)
\{x \in \mathbb{R} : -1 \le x < 4\} | [-1,4)
\mathbb{R} \setminus [0,1] | (-\infty,0)\cup(1,\infty)
\mathbb{R} - \{0\} | x \neq 0
x>2 \text{ and } x<5 | (2,5)
0 < x < 1 \text{ or } 2 < x < 3 | (0,1)\cup(2,3)
3 \le x | [3,\infty)
x \geqslant 1 | x \ge 1
(x-1)(x+2) > 0 | x<-2 \text{ or } x>1
\frac{x-1}{x+1} \le 0 | (-1, 1]
|x-1| \le 2 | [-1,3]
|x+1| > 3 | (-\infty,-4)\cup(2,\infty)
x^2 - 4x + 3 < 0 | 1<x<3
2 < 3x - 1 \le 8 | (1,3]
a \ne 2 | a \neq 2
x^2 + y^2 \le 1 | 1 - x^2 - y^2 \ge 0
3x + 6y = 12 | x + 2y = 4
y - 1 = 2(x - 3) | y = 2x - 5
\frac{x^2}{9} - \frac{y^2}{4} = 1 | 4x^2 - 9y^2 = 36
x = y | y = x
S = \pi r^2 | \pi r^2
a_n = 2n-1 | 2n - 1
a_n = 2^{n-1} | a_n = \frac{2^n}{2}
F_{10} | F_{10}
x_1 = 1 | 1
(x,y) = (1,2) | (1,2)
P(1,2) | (1,2)
(1,2), (3,4) | (3,4), (1,2)
\{(1,2),(3,4)\} | \{(3,4),(1,2)\}
(0, \pm 3) | (0,3), (0,-3)
n = 2, 3, 4 | 2, 3, 4
1, 1, 2 | 2, 1, 1
2:3:4 | 4:6:8
\frac{AB}{CD} = \frac12 | \frac12
100 \text{ km/h} | 100 km/h
3\,\text{m}^2 | 3 m^2
5 \times 10^{-3} | 0.005
1.2e3 | 1200
25\% | 0.25
£5 | 5
5 \text{ dollars} | 5
12 \text{ inches} | 12
0.333\ldots | \frac13
7\frac{1}{2}\% | 7.5\%
0b101 | 0b101
\text{3} | 3
\textbf{4} | 4
\mathrm{A} | A
\text{A, C} | A, C
\text{even} | even
\text{neither} | Neither
\text{True} | true
2n+1, n\in\mathbb{Z} | 2k+1, k\in\mathbb{Z}
x = \frac{\pi}{4} + k\pi, k \in \mathbb{Z} | \frac{\pi}{4} + k\pi
y = C e^{x} | C e^x
\frac{x^3}{3} + C | \frac{1}{3}x^3 + C
\ln|x| + C | \ln |x| + C
2\mathbf{i} + 3\mathbf{j} | (2,3)
\hat{i} - \hat{j} | (1,-1)
\langle 3, -1, 2\rangle | (3,-1,2)
\frac{1}{2}\begin{pmatrix}1&1\\1&-1\end{pmatrix} | \begin{pmatrix}0.5&0.5\\0.5&-0.5\end{pmatrix}
\cos\frac{\pi}{5} | \frac{1+\sqrt5}{4}
\tan 15^\circ | 2-\sqrt3
\sqrt{5+2\sqrt6} | \sqrt2+\sqrt3
\sqrt[3]{2+\sqrt5}+\sqrt[3]{2-\sqrt5} | 1
\frac{\sqrt[3]{16}}{\sqrt[3]{2}} | 2
\log_2 3 \cdot \log_3 4 | 2
1+2+3 | 6
10-2-3 | 5
12/4/3 | 1
2\times3^2 | 18
0.1+0.2 | 0.3
\frac{123456789}{987654321} | \frac{13717421}{109739369}
2^{100} | 1267650600228229401496703205376
100! / 99! | 100
21 | \text{twenty-one}
105 | \text{one hundred and five}
\frac{2}{3} | \text{two thirds}
12 | 12^{\text{th}}
\frac{20000}{\pi} | \frac{20,000}{\pi}
\overline{3+i} | 3-i
\lVert(3,4)\rVert | 5
\|\begin{pmatrix}3\\4\end{pmatrix}\| | 5
\mathbb{R}^+ | (0,\infty)
\mathbb{R}_{\ge 0} | \text{all nonnegative real numbers}
\text{all real numbers except } 2 | (-\infty,2)\cup(2,\infty)
x\le-1 \cup x\ge1 | |x|\ge 1
\sqrt{x}<2 | [0,4)
\overline{AB} | AB
\angle ABC | \angle CBA
\overrightarrow{AB} | \vec{AB}
\mid x\mid | |x|
1\quad2\quad3 | 1,2,3
x=1\quad y=2 | (x,y)=(1,2)
1000{,}5 | 1000.5
1.234.567 | 1234567
\pounds 5.20 | £5.20
45^\circ | \frac{\pi}{4}\text{ rad}
12:00 p.m. | \text{noon}
DNE | \text{does not exist}
\{(1,2)\} | (1,2)
5'3'' | 5\text{ ft }3\text{ in}
42 \checkmark | 42
4{cm} | 4\text{ cm}
x \equiv 3 \pmod 7 | 3 \pmod{7}
10 \pmod 7 | 3 \pmod 7
\begin{aligned}x&=1\\y&=2\end{aligned} | x=1, y=2
\begin{aligned}x&=2+3\\&=5\end{aligned} | 5
\begin{pmatrix}-6\6\end{pmatrix} | \begin{pmatrix}-6\\6\end{pmatrix}
n\pi, \text{ for any integer } n | k\pi, k\in\mathbb{Z}
\left\{\begin{array}{rll}x & \text{if} & x \ge 1 \\ 2x & \text{if} & x<1\end{array}\right. | \begin{cases}2x & x<1\\x & x\ge 1\end{cases}
\lambda_{\text{red}}/2 | 0.5\lambda_{\text{red}}
\dot{x}_0 t | t\dot{x}_0
80\pi\ \mathrm{mi}/\mathrm{min} | 80\pi
"""
DIFFERENT = r"""
1/2 | 0.51
x^2-1 | (x-1)^2
(1,2) | (2,1)
[0,1] | (0,1)
[0,1) | (0,1]
x<3 | x\le 3
x>3 | x<3
(-\infty,3) | (-\infty,4)
\{1,2\} | \{1,2,3\}
1, 2 | 1, 3
\pm 2 | 2
\begin{pmatrix}1&2\\3&4\end{pmatrix} | \begin{pmatrix}1&3\\2&4\end{pmatrix}
\begin{pmatrix}1\\2\end{pmatrix} | \begin{pmatrix}1\\2\\3\end{pmatrix}
y=2x | y=3x
x^2+y^2=4 | x^2+y^2=2
2\pi | 2
50\% | 5
1:2 | 2:3
\text{B} | C
\text{Monday} | Tuesday
\sin x | \cos x
e^x | e^{2x}
\log x | \log 2x
i | -i
3+4i | 3-4i
-5 | 5
\frac23 | \frac32
10^3 | 10^4
\emptyset | \{0\}
x=1, y=2 | x=2, y=1
\sum_{k=1}^{10} k | 54
\int_0^1 x dx | \frac13
(0,2)\cap(1,3) | (0,3)
\mathbb{R} | \mathbb{Z}
x \ne 0 | x \ne 1
|x|<3 | |x|<4
\frac{1}{x} | x
2^{x+1} | 2^x
\begin{cases}1&x>0\\0&x\le 0\end{cases} | \begin{cases}1&x\ge 0\\0&x< 0\end{cases}
5 \text{ cm} | 6 \text{ cm}
90^\circ | 45^\circ
\sqrt[3]{27} | 9
5! | 5
\binom{5}{2} | 20
x^2<4 | x<2
-2x<4 | x<-2
101_2 | 110_2
\infty | -\infty
k\pi, k\in\mathbb{Z} | 2k\pi, k\in\mathbb{Z}
\mathbb{R}^2 | \mathbb{R}^3
20^\circ C | 20^\circ F
f'(x) = 2x | 3x
\sum_{n=1}^{\infty} \frac{1}{2^n} | 2
\lim_{x\to\infty}\frac1x | 1
\begin{pmatrix}a&b\\c&d\end{pmatrix} | \begin{pmatrix}a&c\\b&d\end{pmatrix}
]0,1[ | [0,1]
(1,3)\cup(2,5) | (1,4)
\{x \mid x > 2\} | [2,\infty)
\mathbb{R} - \{0\} | x \neq 1
(x-1)(x+2) > 0 | -2<x<1
|x-1| \le 2 | [-1,3)
x^2 + y^2 \le 1 | x^2 + y^2 \ge 1
3x + 6y = 12 | x + 2y = 5
a_n = 2n-1 | 2n+1
(x,y) = (1,2) | (2,1)
(1,2), (3,4) | (1,2), (4,3)
1, 1, 2 | 1, 2, 3
2:3:4 | 2:4:3
3\,\text{m}^2 | 4 m^2
5 \times 10^{-3} | 0.0005
\text{even} | odd
\text{True} | False
\text{A, C} | A, B
x = \frac{\pi}{4} + k\pi | \frac{\pi}{3} + k\pi
\frac{x^3}{3} + C | x^3 + C
\hat{i} - \hat{j} | (1,1)
\langle 3, -1, 2\rangle | (3,-1,-2)
\cos\frac{\pi}{5} | \frac{1+\sqrt3}{4}
2^{100} | 2^{101}
6!! | 720
\arg(i) | \pi
\lfloor -2.5 \rfloor | -2
\max(2,5) | 2
1:2:3 | 1:2
(0, \pm 3) | (0, 3)
2n+1, n\in\mathbb{Z} | 2n, n\in\mathbb{Z}
\vec{AB} | \vec{BA}
\angle ABC | \angle ACB
x \equiv 3 \pmod 7 | 3 \pmod 5
10 \pmod 7 | 4 \pmod 7
45^\circ | \frac{\pi}{3}\text{ rad}
\mathbb{R}^+ | [0,\infty)
\overline{3+i} | 3+i
\overline{ab} | ab
21 | \text{twelve}
1\quad2 | 12
\begin{aligned}x&=1\\y&=2\end{aligned} | x=2, y=1
x\le-1 \cup x\ge1 | -1 \le x\le 1
1.234.567 | 1.234567
\frac{1}{2}\text{ or }\frac{1}{3} | \frac{1}{2}
"""
ROUNDED = r"""
\sqrt{2} | 1.41
0.\overline{3} | 0.33
"""


def wrong(table: str, value: float, *, swapped: bool) -> list[str]:
    """The lines of a table whose pair does not get the value."""
    pairs = [line.split(" | ") for line in table.strip().splitlines()]
    golds, answers = zip(*[reversed(pair) if swapped else pair for pair in pairs], strict=True)
    patient = get_reward("math").with_(timeout=30.0)  # a loaded machine is no finding
    found = patient(completions=[rf"So it is \boxed{{{answer}}}." for answer in answers], answer=list(golds))
    return [
        f"{gold} | {answer}: {got}" for gold, answer, got in zip(golds, answers, found, strict=True) if got != value
    ]


def test_the_same_in_another_form() -> None:
    assert wrong(SAME, 1.0, swapped=False) == []


def test_the_same_the_other_way_round() -> None:
    assert wrong(SAME, 1.0, swapped=True) == []


def test_what_looks_alike_is_told_apart() -> None:
    assert wrong(DIFFERENT, 0.0, swapped=False) == []
    assert wrong(DIFFERENT, 0.0, swapped=True) == []


ONE_WAY = [
    (r"[3,\infty)", r"[3,\infty]", 0.0),
    (r"[3,\infty]", r"[3,\infty)", 1.0),
    ("5", "x = 6 = 5", 0.0),
    ("5", "2 + 4 = 5", 0.0),
    ("2", r"x = \sqrt{4} = 2", 1.0),
    ("3.33", r"x = \frac{10}{3} = 3.33", 1.0),
    ("2", r"t = 120\text{ min} = 2\text{ h}", 1.0),
    (r"15\frac{39}{40}", r"\frac{639}{40} \text{ or } 15.975", 1.0),
    (r"15\frac{39}{40}", r"\frac{639}{40} \text{ or } 15.976", 0.0),
    ("1234.5", "1.234,5", 1.0),
    ("32349", "32, 349", 0.0),
    ("0.125", "0{,}125", 1.0),
    ("125", "0{,}125", 0.0),
]


def test_what_holds_in_one_direction_only() -> None:
    golds, answers, values = zip(*ONE_WAY, strict=True)
    found = get_reward("math")(completions=[rf"\boxed{{{answer}}}" for answer in answers], answer=list(golds))
    assert list(zip(golds, answers, found, strict=True)) == list(zip(golds, answers, values, strict=True))


def test_a_rounded_answer_is_wrong_and_a_rounded_reference_is_met() -> None:
    assert wrong(ROUNDED, 0.0, swapped=False) == []
    assert wrong(ROUNDED, 1.0, swapped=True) == []
